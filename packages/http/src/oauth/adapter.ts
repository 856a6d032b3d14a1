import type { OAuthService } from '@market/handlers/oauth'
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { currentRequest } from './requests.ts'

type Storage = Pick<OAuthService, 'records' | 'endGrant' | 'reused'>

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

const recordsOf = ({ records, endGrant, reused }: Storage, model: string): Adapter => ({
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
    if (await records.consume(model, id)) return
    const { grantId, ...request } = currentRequest()
    if (grantId !== undefined) reused(grantId, request)
    throw new errors.InvalidGrant('already used')
  },
  destroy: (id) => records.delete(model, id),
  // The provider calls it for each model when a code or refresh token is used twice, and when the program revokes its token.
  revokeByGrantId: async (grantId) => {
    const { grantId: _, ...request } = currentRequest()
    const isReuse = request.operation !== 'oauthRevoke'
    // fix: oauth-reuse
    if (isReuse && model === 'AccessToken') reused(grantId, request)
    await endGrant(grantId, isReuse ? 'reuse' : 'program', request)
  },
})
