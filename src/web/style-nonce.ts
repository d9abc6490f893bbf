/** The nonce that lets Google's styles into the frame of Search Suggestions: new for every load of the page. */

/** Stands for the nonce in a frame's document, because only the page that shows it knows its own. */
export const NONCE_MARK = "%NONCE%";
