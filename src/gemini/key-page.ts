/** Where a user gets an API key, and the message that none is set. */

export const KEY_PAGE = "https://aistudio.google.com/apikey";

export const NO_KEY = "No Gemini API key is set.";
