import type { Requester } from '../access.ts';
import { filmEndpoints } from '../../api/film.ts';
import { type Route, serve } from '../exchange.ts';
import * as rules from '../rules/film.ts';
import type { Cinema } from '../rules/film-records.ts';
import type { Stores } from '../store/stores.ts';

export function filmRoutes({ films, people, cities }: Stores): Route[] {
  const cinema = ({ tier }: Requester): Cinema => ({ films, people, cities, tier });
  return [
    serve(filmEndpoints.subject, ({ id }, viewer) => rules.subject(cinema(viewer), id)),
    serve(filmEndpoints.celebrity, ({ id }, viewer) => rules.celebrity(cinema(viewer), id)),
    serve(filmEndpoints.photos, (input, viewer) => rules.subjectPhotos(cinema(viewer), input)),
    serve(filmEndpoints.reviews, (input, viewer) => rules.reviews(cinema(viewer), input)),
    serve(filmEndpoints.comments, (input, viewer) => rules.comments(cinema(viewer), input)),
    serve(filmEndpoints.works, (input, viewer) => rules.works(cinema(viewer), input)),
    serve(filmEndpoints.celebrityPhotos, (input, viewer) => rules.celebrityPhotos(cinema(viewer), input)),
    serve(filmEndpoints.search, (input, viewer) => rules.searchFilms(cinema(viewer), input)),
    serve(filmEndpoints.top250, (input, viewer) => rules.top250(cinema(viewer), input)),
    serve(filmEndpoints.usBox, (_, viewer) => rules.usBox(cinema(viewer))),
    serve(filmEndpoints.weekly, (_, viewer) => rules.weekly(cinema(viewer))),
    serve(filmEndpoints.newMovies, (_, viewer) => rules.newMovies(cinema(viewer))),
    serve(filmEndpoints.inTheaters, (input, viewer) => rules.inTheaters(cinema(viewer), input)),
    serve(filmEndpoints.comingSoon, (input, viewer) => rules.comingSoon(cinema(viewer), input)),
  ];
}
