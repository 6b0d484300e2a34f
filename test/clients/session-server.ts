/** How the service gives tokens to your app. */
export interface Issuer {
  /** What renews the tokens of a user, undefined for a wrong password. */
  signIn(form: FormData): Promise<string | undefined>;
  /** A token that ends soon, undefined if the user has to sign in again. */
  renew(session: string): Promise<string | undefined>;
}

/** `/session`: POST with a form signs in, POST alone renews, DELETE ends it. */
export async function session(request: Request, issuer: Issuer) {
  const { headers, method } = request;
  if (headers.get('sec-fetch-site') !== 'same-origin')
    return new Response(null, { status: 403 });
  const isForm = headers.get('content-type')?.startsWith('multipart/form-data');
  const kept = isForm
    ? await issuer.signIn(await request.formData())
    : /(?:^|; )session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1];
  const token =
    method === 'POST' && kept ? await issuer.renew(kept) : undefined;
  // No script reads the cookie, no other site sends it, no other path gets it.
  const cookie = [
    `session=${token ? kept : ''}; Max-Age=${token ? 2592000 : 0}`,
    'Path=/session; HttpOnly; Secure; SameSite=Strict',
  ];
  return Response.json(
    { token },
    {
      status: token || method === 'DELETE' ? 200 : 401,
      headers: {
        'cache-control': 'no-store',
        'set-cookie': cookie.join('; '),
      },
    },
  );
}
