import type { Adapter, AdapterPayload } from 'oidc-provider'

/**
 * Access tokens for a resource are never stored by the provider, and its userinfo rejects them. The large
 * providers accept one token for both, so each JWT has a stored token that is looked up instead.
 */
export function memoryAdapter(
  userinfoTokens: ReadonlyMap<string, string>,
  clients: ReadonlyMap<string, AdapterPayload>,
): (name: string) => Adapter {
  return (name) => {
    const rows = new Map<string, AdapterPayload>()
    return {
      upsert: async (id, payload) => void rows.set(id, payload),
      find: async (id) => {
        // Without a stored login every sign-in asks who it is.
        if (name === 'Session') return withoutLogin(rows.get(id))
        return (name === 'Client' ? clients : rows).get(userinfoTokens.get(id) ?? id)
      },
      findByUid: async (uid) => [...rows.values()].find((row) => row.uid === uid),
      findByUserCode: async (code) => [...rows.values()].find((row) => row.userCode === code),
      consume: async (id) => void rows.set(id, { ...rows.get(id), consumed: Math.floor(Date.now() / 1_000) }),
      destroy: async (id) => void rows.delete(id),
      async revokeByGrantId(grantId) {
        for (const [id, row] of rows) if (row.grantId === grantId) rows.delete(id)
      },
    }
  }
}

function withoutLogin(session: AdapterPayload | undefined): AdapterPayload | undefined {
  if (session === undefined) return undefined
  const { accountId: _account, loginTs: _time, authorizations: _grants, ...rest } = session
  return rest
}
