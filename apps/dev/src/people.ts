import { createHash } from 'node:crypto'
import type { Idp } from '@market/testing/idp'

export interface Person {
  readonly email: string
  readonly twitter_username?: string
  readonly wallets?: readonly string[]
}

/** The one person who may do what operators may. */
export const OPERATOR = 'operator@example.com'

/** The same address is the same person, in every run. */
export const personId = (email: string): string =>
  `person-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 16)}`

export const tokenFor = (idp: Idp, person: Person): Promise<string> =>
  idp.token({
    ...person,
    sub: personId(person.email),
    email_verified: true,
    username: person.email.replace(/@.*/, ''),
  })
