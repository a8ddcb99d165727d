"""What menus, toolbar, drops and the clipboard do, and how the menus are laid out."""
