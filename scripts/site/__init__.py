"""From the pages to the site that a host serves."""
