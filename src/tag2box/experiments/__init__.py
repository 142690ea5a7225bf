"""Measurements on real images, each behind a command."""
