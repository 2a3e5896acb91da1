"""What people with a role do, as an API. The panel's buttons call these and nothing else."""
