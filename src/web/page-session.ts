/** Contract between dashboard and server: how a browser proves and shows who is signed in. */

/**
 * Header with the secret of a session, sent with every request besides the cookie. Browsers send a cookie to every port
 * of a host, but localStorage belongs to one origin, including its port.
 */
export const PAGE_SECRET_HEADER = "x-page-secret";
/** Name of the secret in localStorage. */
export const PAGE_SECRET_ITEM = "page-secret";
/** Name of the item beside it with the name of the user who is signed in; absent for the user of the server's machine. */
export const PAGE_USER_ITEM = "page-user";
