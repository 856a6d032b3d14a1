import { createPublicKey } from 'node:crypto'
import type { OAuthKeys } from '@market/handlers/oauth'
import type { AccessToken } from '@market/handlers/verify-bearer'
import { jwtVerify } from 'jose'

interface Expected {
  readonly issuer: string
  readonly audience: string
}

/** Undefined unless one of the keys signed it as an access token for this audience, and it has not expired. */
export async function readAccessToken(
  token: string,
  keys: readonly OAuthKeys[],
  expected: Expected,
): Promise<AccessToken | undefined> {
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => publicKeyOf(keys, kid), {
      ...expected,
      algorithms: ['ES256'],
      typ: 'at+jwt',
      requiredClaims: ['exp', 'grant_id'],
    })
    const { grant_id: grantId, scope } = payload
    if (typeof grantId !== 'string') return undefined
    return { grantId, scopes: typeof scope === 'string' ? scope.split(' ') : [] }
  } catch {
    return undefined
  }
}

function publicKeyOf(keys: readonly OAuthKeys[], id: string | undefined) {
  const found = keys.find((one) => one.id === id)
  if (found === undefined) throw new Error('unknown key')
  return createPublicKey({ key: found.signing, format: 'jwk' })
}
