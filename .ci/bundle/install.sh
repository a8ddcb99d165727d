#!/bin/sh
# Add the program to the menu, the file types and the commands of this user; nothing needs root.
# usage: ./install.sh, in the folder of the program, which moves to ~/.local/share/inpaint-app
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=$data/inpaint-app
commands=$HOME/.local/bin

if [ "$here" = "$target" ]; then
    echo "Inpaint is installed already. To install another version, run its install.sh." >&2
    exit 2
fi
for name in inpaint inpaint-app; do
    path=$commands/$name
    if [ -e "$path" ] && [ "$(readlink "$path" || true)" != "$target/$name" ]; then
        echo "$path is another program; move it away first." >&2
        exit 2
    fi
done

mkdir -p "$data/applications" "$data/icons/hicolor/scalable/apps" "$data/man/man1" "$commands"
new=$target.new
rm -rf "$new"
cp -R "$here" "$new"
rm -rf "$target"
mv "$new" "$target"
sed "s|^Exec=inpaint-app|Exec=\"$target/inpaint-app\"|" "$target/share/org.dictsel.inpaint.desktop" \
    >"$data/applications/org.dictsel.inpaint.desktop"
cp "$target/share/icon.svg" "$data/icons/hicolor/scalable/apps/org.dictsel.inpaint.svg"
cp "$target/share/inpaint.1" "$data/man/man1/inpaint.1"
for name in inpaint inpaint-app; do ln -sf "$target/$name" "$commands/$name"; done
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$data/applications" || true; fi

echo "Installed in $target. Start Inpaint from the menu, or as $commands/inpaint-app."
case :$PATH: in
*:"$commands":*) ;;
*) echo "$commands is not in your PATH; add it to type just inpaint." ;;
esac
