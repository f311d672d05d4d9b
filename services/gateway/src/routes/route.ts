// The shape of a public route: where it answers, what kind of reader it has, and how.
import type { Answer } from '../answer.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';

/**
 * Who reads the answers of a route; decides headers and the form of errors.
 * `resource`: a partner's backend with an access token. `token`: the token endpoint. `public`: anybody,
 * cacheable. `page`: a person's browser.
 */
export type Surface = 'resource' | 'token' | 'public' | 'page';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Fastify's path pattern; also `http.route` in spans and logs. */
  readonly path: string;
  readonly surface: Surface;
  /** Answers HEAD as GET without a body (R31). */
  readonly head?: boolean;
  /** Time for the whole answer in milliseconds; the gateway's own budget when absent (R14). */
  readonly budgetMs?: number;
  /** A thrown `Failure` is answered by its code (error-reply.ts); anything else is a server_error. */
  readonly answer: (request: IncomingRequest) => Promise<Answer>;
  /** A page instead of JSON where a person reads; undefined leaves the failure to error-reply.ts. */
  readonly explain?: (code: string, request: IncomingRequest) => Answer | undefined;
}
