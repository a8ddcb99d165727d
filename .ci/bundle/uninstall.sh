#!/bin/sh
# Remove what install.sh has added for this user. Pictures, preferences and projects stay.
set -eu

data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$data/inpaint-app
for name in inpaint inpaint-app; do
    path=$HOME/.local/bin/$name
    if [ "$(readlink "$path" || true)" = "$target/$name" ]; then rm -f "$path"; fi
done
rm -f "$data/applications/org.dictsel.inpaint.desktop" "$data/man/man1/inpaint.1" \
    "$data/icons/hicolor/scalable/apps/org.dictsel.inpaint.svg"
rm -rf "$target"
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$data/applications" || true; fi
echo "Inpaint is removed. Your preferences are still in ${XDG_CONFIG_HOME:-$HOME/.config}."
