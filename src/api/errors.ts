/** The body of every error response of the service. */
export interface ErrorBody {
  code: number;
  msg: string;
  /** The request line: `GET /v2/book/7/collection`. */
  request: string;
}

/** The message and the status of every error code: those of the interface, and those chosen where it specifies none. */
// Keep the columns aligned.
// prettier-ignore
export const serviceErrors = {
  100:  { msg: 'invalid_request_scheme', status: 400 },
  103:  { msg: 'invalid_access_token', status: 401 },
  104:  { msg: 'invalid_apikey', status: 400 },
  106:  { msg: 'access_token_has_expired', status: 401 },
  111:  { msg: 'rate_limit_exceeded', status: 429 },
  112:  { msg: 'rate_limit_exceeded2', status: 429 },
  123:  { msg: 'access_token_has_expired_since_password_changed', status: 401 },
  131:  { msg: 'apikey_required', status: 400 },
  999:  { msg: 'invalid_request', status: 400 },
  1000: { msg: 'need_permission', status: 403 },
  1001: { msg: 'uri_not_found', status: 404 },
  1002: { msg: 'missing_args', status: 400 },
  1003: { msg: 'image_too_large', status: 400 },
  1004: { msg: 'has_ban_word', status: 400 },
  1005: { msg: 'input_too_short', status: 400 },
  1006: { msg: 'target_not_found', status: 400 },
  1007: { msg: 'need_captcha', status: 403 },
  1008: { msg: 'image_unknow', status: 400 },
  1009: { msg: 'image_wrong_format', status: 400 },
  1012: { msg: 'title_missing', status: 400 },
  1013: { msg: 'desc_missing', status: 400 },
  1014: { msg: 'wrong_method', status: 400 },
  1309: { msg: 'subject_ip_rate_limit', status: 400 },
  5000: { msg: 'movie_not_found', status: 404 },
  6000: { msg: 'book_not_found', status: 404 },
  6002: { msg: 'unauthorized_error', status: 403 },
  6004: { msg: 'review_content_short (should more than 150)', status: 400 },
  6006: { msg: 'review_not_found', status: 404 },
  6007: { msg: 'not_book_request', status: 403 },
  6008: { msg: 'people_not_found', status: 404 },
  6009: { msg: 'function_error', status: 400 },
  6010: { msg: 'comment_too_long (should less than 350)', status: 400 },
  6011: { msg: 'collection_exist (try PUT if you want to update)', status: 409 },
  6012: { msg: 'invalid_page_number (should be digit less than 1000000)', status: 400 },
  6013: { msg: 'chapter_too_long (should less than 100)', status: 400 },
  6014: { msg: 'series_not_found', status: 404 },
} as const satisfies Record<number, { msg: string; status: number }>;

export type ServiceCode = keyof typeof serviceErrors;
