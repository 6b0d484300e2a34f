import { BASIC_CALLS_A_MINUTE } from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';

export const FilmTier = builder.enumType('FilmTier', {
  description:
    'The film tier of a token, which decides what it may read. Advance gets everything; premium lacks some fields that basic gets.',
  values: {
    BASIC: { value: 'basic', description: `Open to everybody; ${BASIC_CALLS_A_MINUTE} calls a minute.` },
    ADVANCE: { value: 'advance', description: 'The largest tier: celebrities, charts, photos, reviews, comments.' },
    PREMIUM: { value: 'premium', description: 'Has no limit of calls, but lacks celebrities and most charts.' },
  } as const,
});
