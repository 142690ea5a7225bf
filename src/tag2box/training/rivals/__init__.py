"""What rivals learn from base classes before they see a task."""
