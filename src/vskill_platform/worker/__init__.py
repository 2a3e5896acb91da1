"""What runs in the background: the queue consumer, the sweep for stuck submissions, the cron."""
