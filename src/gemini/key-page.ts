/** Where a user gets an API key. */

export const KEY_PAGE = "https://aistudio.google.com/apikey";
