"""What configures an agent, an editor or a package manager, what is installed by it, and what things are called."""
