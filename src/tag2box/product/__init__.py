"""What people install tag2box for; for now, the demo."""
