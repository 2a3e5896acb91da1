"""Who is told what: alerts for the operator, and webhooks for the operator and for publishers."""
