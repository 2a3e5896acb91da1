"""What machines follow: feeds, maps of the site, and the files that crawlers and agents look for."""
