"""Configuration and composition: settings, registry of kinds, supervision tree, recording, replay."""
