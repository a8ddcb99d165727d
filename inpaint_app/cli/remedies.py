"""What the user can do about a problem, in terms of the command line."""

from inpaint_app.errors import Remedy

REMEDIES = {
    Remedy.REPLACE_FILE: "choose another name, or replace it with --overwrite",
    Remedy.REPLACE_SOURCES: "choose another folder with -o, or replace them with --overwrite",
    Remedy.MARK_MISSING: "give a mask image (--mask, white = missing) or a color that marks them (--key), "
    "or make them transparent or NaN",
    Remedy.INVERT_MASK: "paint missing pixels white in it, or invert it with --invert-mask",
    Remedy.MARK_LESS: "mark fewer pixels, or invert the mask with --invert-mask",
    Remedy.CHECK_INVERTED: "invert it with --invert-mask, or use it as it is with --trust-mask",
    Remedy.CHECK_UNINVERTED: "leave --invert-mask out, or use it as it is with --trust-mask",
    Remedy.CHECK_PHOTOGRAPH: "give a picture that is white where pixels are missing, or use it as it is with "
    "--trust-mask",
    Remedy.ALLOW_TOLERANCE: "check it, or allow a difference with --tolerance",
    Remedy.REDUCE_DEPTH: "write TIFF, or PNG for 16 bits, or reduce the picture with --depth 8",
    Remedy.GIVE_RECIPE: "give a file written with --write-recipe",
    Remedy.RESTORE_ARRAY: "give one page in gray or RGB; only 'inpaint restore' takes more",
    Remedy.ACCEPT_LOSS: "choose a format that holds them, or do without --strict",
    Remedy.RESTORE_FOLDER: "give an image file inside it, or use 'inpaint batch'",
}
