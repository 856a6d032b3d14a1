import type { OAuthService } from '@market/handlers/oauth'
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'

type Storage = Pick<OAuthService, 'records' | 'endGrant'>

/** The storage of the authorization server. */
export const adapterFor =
  (storage: Storage) =>
  (model: string): Adapter => ({
    ...recordsOf(storage, model),
    // A stored session would skip the sign-in of the next user of the same browser.
    ...(model === 'Session' && { upsert: async () => {}, find: nothing }),
  })

const nothing = async () => undefined

/** Postgres stores no text with this character. */
const NUL = '\0'

function requireStorable(id: string): void {
  if (id.includes(NUL)) throw new errors.InvalidRequest('a parameter contains a NUL character')
}

const recordsOf = ({ records, endGrant }: Storage, model: string): Adapter => ({
  upsert: (id, payload, expiresIn) =>
    records.save(model, id, payload as Readonly<Record<string, unknown>>, expiresIn),
  find: async (id) => {
    requireStorable(id)
    return (await records.find(model, id)) as AdapterPayload | undefined
  },
  findByUid: nothing,
  findByUserCode: nothing,
  // Of several uses at once, one succeeds.
  consume: async (id) => {
    if (!(await records.consume(model, id))) throw new errors.InvalidGrant('already used')
  },
  destroy: (id) => records.delete(model, id),
  // The provider calls it when a code or refresh token is used twice, and when the program revokes its token.
  revokeByGrantId: (grantId) => endGrant(grantId, 'oauth'),
})
