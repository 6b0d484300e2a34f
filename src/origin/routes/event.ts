import { eventEndpoints } from '../../api/event.ts';
import { type Requester, personOf } from '../access.ts';
import { type Route, serve } from '../exchange.ts';
import * as rules from '../rules/event.ts';
import type { Stores } from '../store/stores.ts';

export function eventRoutes({ events, people, cities, transaction }: Stores, now: () => number = Date.now): Route[] {
  const town = ({ person: viewer }: Requester): rules.Town => ({
    events,
    people,
    cities,
    transaction,
    viewer,
    now: now(),
  });
  return [
    serve(eventEndpoints.byId, ({ id }, viewer) => rules.event(town(viewer), id)),
    serve(eventEndpoints.participants, (input, viewer) => rules.attendees(town(viewer), 'participate', input)),
    serve(eventEndpoints.wishers, (input, viewer) => rules.attendees(town(viewer), 'wish', input)),
    serve(eventEndpoints.ofUser, (input, viewer) => rules.eventsOfPerson(town(viewer), 'any', input)),
    serve(eventEndpoints.initiated, (input, viewer) => rules.eventsOfPerson(town(viewer), 'initiate', input)),
    serve(eventEndpoints.participated, (input, viewer) => rules.eventsOfPerson(town(viewer), 'participate', input)),
    serve(eventEndpoints.wished, (input, viewer) => rules.eventsOfPerson(town(viewer), 'wish', input)),
    serve(eventEndpoints.ofCity, (input, viewer) => rules.eventsOfCity(town(viewer), input)),
    serve(eventEndpoints.search, (input, viewer) => rules.searchEvents(town(viewer), input)),

    serve(eventEndpoints.create, (draft, viewer) => rules.create(town(viewer), personOf(viewer), draft)),
    serve(eventEndpoints.update, (input, viewer) => rules.update(town(viewer), personOf(viewer), input)),
    serve(eventEndpoints.delete, (input, viewer) => rules.remove(town(viewer), personOf(viewer), input)),
    serve(eventEndpoints.join, ({ id }, viewer) => rules.attend(town(viewer), personOf(viewer), id, 'participate')),
    serve(eventEndpoints.wish, ({ id }, viewer) => rules.attend(town(viewer), personOf(viewer), id, 'wish')),
    serve(eventEndpoints.leave, ({ id }, viewer) =>
      rules.leaveEvent(town(viewer), personOf(viewer), id, 'participate'),
    ),
    serve(eventEndpoints.unwish, ({ id }, viewer) => rules.leaveEvent(town(viewer), personOf(viewer), id, 'wish')),
  ];
}
