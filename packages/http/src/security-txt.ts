import type { FastifyInstance } from 'fastify'

export interface SecurityContact {
  /** `mailto:` or `https:` addresses, the preferred one first. */
  readonly contacts: readonly string[]
  readonly expires: Date
}

/** Where to report a vulnerability, in the format of RFC 9116. Without a contact there is no such file. */
export function mountSecurityTxt(
  app: FastifyInstance,
  baseUrl: string,
  contact: SecurityContact | undefined,
): void {
  if (contact === undefined) return
  const text = securityTxt(baseUrl, contact)
  app.get('/.well-known/security.txt', async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').header('Cache-Control', 'public, max-age=86400').send(text),
  )
}

const securityTxt = (baseUrl: string, { contacts, expires }: SecurityContact): string =>
  [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n')
