"""Doors into other people's tools: boxes where annotators already work, and their corrections back."""
