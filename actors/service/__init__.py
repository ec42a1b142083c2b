"""Configuration and composition: settings, registry of kinds, supervision tree, record and replay."""
