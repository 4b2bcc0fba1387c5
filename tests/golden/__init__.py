"""What must not change unseen."""
