import type { ErrorRow } from './service-descriptor.ts';

/** The body of every error response of the service. */
export interface ErrorBody {
  code: number;
  msg: string;
  /** The request line: `GET /v2/book/7/collection`. */
  request: string;
}

/**
 * Every error code: those of the interface, with the values chosen where it specifies none. At endpoints of notes,
 * 1006 means that there is no such note.
 */
// Keep the columns aligned.
// prettier-ignore
export const serviceErrors = {
  100:  { msg: 'invalid_request_scheme',                                  status: 400, client: 'UPSTREAM_REFUSED',       means: 'other',      drops: false },
  103:  { msg: 'invalid_access_token',                                    status: 401, client: 'UNAUTHENTICATED',        means: 'token',      drops: true },
  104:  { msg: 'invalid_apikey',                                          status: 400, client: 'UPSTREAM_REFUSED',       means: 'key',        drops: false },
  105:  { msg: 'apikey_is_blocked',                                       status: 400, client: 'UPSTREAM_REFUSED',       means: 'key',        drops: false },
  106:  { msg: 'access_token_has_expired',                                status: 401, client: 'UNAUTHENTICATED',        means: 'token',      drops: true },
  111:  { msg: 'rate_limit_exceeded',                                     status: 429, client: 'RATE_LIMITED',           means: 'rate',       drops: false },
  112:  { msg: 'rate_limit_exceeded2',                                    status: 429, client: 'RATE_LIMITED',           means: 'rate',       drops: false },
  123:  { msg: 'access_token_has_expired_since_password_changed',         status: 401, client: 'UNAUTHENTICATED',        means: 'token',      drops: true },
  131:  { msg: 'apikey_required',                                         status: 400, client: 'UPSTREAM_REFUSED',       means: 'key',        drops: false },
  999:  { msg: 'invalid_request',                                         status: 400, client: 'UPSTREAM_REFUSED',       means: 'anything',   drops: false },
  1000: { msg: 'need_permission',                                         status: 403, client: 'FORBIDDEN',              means: 'permission', drops: true },
  1001: { msg: 'uri_not_found',                                           status: 404, client: 'FORBIDDEN',              means: 'scope',      drops: true },
  1002: { msg: 'missing_args',                                            status: 400, client: 'MISSING_ARGUMENT',       means: 'other',      drops: false },
  1003: { msg: 'image_too_large',                                         status: 400, client: 'PICTURE_TOO_LARGE',      means: 'other',      drops: false },
  1004: { msg: 'has_ban_word',                                            status: 400, client: 'UPSTREAM_REFUSED',       means: 'other',      drops: false },
  1005: { msg: 'input_too_short',                                         status: 400, client: 'ANNOTATION_TOO_SHORT',   means: 'other',      drops: false },
  1006: { msg: 'target_not_found',                                        status: 400, client: 'NOTE_NOT_FOUND',         means: 'rejected',   drops: false },
  1007: { msg: 'need_captcha',                                            status: 403, client: 'UPSTREAM_REFUSED',       means: 'other',      drops: true },
  1008: { msg: 'image_unknow',                                            status: 400, client: 'PICTURE_TYPE',           means: 'other',      drops: false },
  1009: { msg: 'image_wrong_format',                                      status: 400, client: 'PICTURE_TYPE',           means: 'other',      drops: false },
  1012: { msg: 'title_missing',                                           status: 400, client: 'MISSING_ARGUMENT',       means: 'other',      drops: false },
  1013: { msg: 'desc_missing',                                            status: 400, client: 'MISSING_ARGUMENT',       means: 'other',      drops: false },
  1014: { msg: 'wrong_method',                                            status: 400, client: 'UPSTREAM_REFUSED',       means: 'other',      drops: false },
  1309: { msg: 'subject_ip_rate_limit',                                   status: 400, client: 'RATE_LIMITED',           means: 'rate',       drops: false },
  5000: { msg: 'movie_not_found',                                         status: 404, client: 'SUBJECT_NOT_FOUND',      means: 'absent',     drops: true },
  6000: { msg: 'book_not_found',                                          status: 404, client: 'BOOK_NOT_FOUND',         means: 'absent',     drops: true },
  6002: { msg: 'unauthorized_error',                                      status: 403, client: 'NOT_OWNER',              means: 'other',      drops: true },
  6004: { msg: 'review_content_short (should more than 150)',             status: 400, client: 'REVIEW_TOO_SHORT',       means: 'other',      drops: false },
  6006: { msg: 'review_not_found',                                        status: 404, client: 'REVIEW_NOT_FOUND',       means: 'absent',     drops: true },
  6007: { msg: 'not_book_request',                                        status: 403, client: 'UPSTREAM_REFUSED',       means: 'other',      drops: true },
  6008: { msg: 'people_not_found',                                        status: 404, client: 'PERSON_NOT_FOUND',       means: 'absent',     drops: true },
  6009: { msg: 'function_error',                                          status: 400, client: 'UPSTREAM_REFUSED',       means: 'anything',   drops: false },
  6010: { msg: 'comment_too_long (should less than 350)',                 status: 400, client: 'COMMENT_TOO_LONG',       means: 'other',      drops: false },
  6011: { msg: 'collection_exist (try PUT if you want to update)',        status: 409, client: 'COLLECTION_EXISTS',      means: 'other',      drops: false },
  6012: { msg: 'invalid_page_number (should be digit less than 1000000)', status: 400, client: 'INVALID_PAGE_NUMBER',    means: 'other',      drops: false },
  6013: { msg: 'chapter_too_long (should less than 100)',                 status: 400, client: 'CHAPTER_TOO_LONG',       means: 'other',      drops: false },
  6014: { msg: 'series_not_found',                                        status: 404, client: 'UPSTREAM_REFUSED',       means: 'absent',     drops: true },
} as const satisfies Record<number, ErrorRow>;

export type ServiceCode = keyof typeof serviceErrors;

/** The row of a received code; undefined if it is unknown. */
export const serviceError = (code: number | undefined): ErrorRow | undefined => serviceErrors[code as ServiceCode];
