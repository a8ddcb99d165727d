"""Small widgets that know nothing of the session; may import the theme."""
