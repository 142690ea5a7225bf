"""The methods: localizers find, detectors learn. Nothing in here may know the truth."""
