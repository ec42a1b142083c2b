"""Decides which events of several sources are one match. Pure: knows neither board nor operator."""
