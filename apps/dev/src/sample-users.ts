import { createHash } from 'node:crypto'
import { ADMIN_ROLE, type Idp, type IdpPerson } from '@market/testing/idp'

export interface SampleUser {
  readonly email: string
  readonly twitter_username?: string
  readonly wallets?: readonly string[]
}

/** The only user with the operator role. */
export const OPERATOR = 'operator@example.com'

/** The same email gets the same user id in every run. */
export const userIdOf = (email: string): string =>
  `user-${createHash('sha256').update(email.toLowerCase()).digest('hex').slice(0, 16)}`

const personOf = (user: SampleUser): IdpPerson => ({
  ...user,
  sub: userIdOf(user.email),
  email_verified: true,
  ...(userIdOf(user.email) === userIdOf(OPERATOR) && { roles: [ADMIN_ROLE] }),
  username: user.email.replace(/@.*/, ''),
})

export const tokenFor = (idp: Idp, user: SampleUser): Promise<string> => idp.token(personOf(user))

/** Lets the operator choose their account on the sign-in page. */
export const addOperator = (idp: Idp): void => idp.setPerson(personOf({ email: OPERATOR }))
