import { record } from '@market/core/audit'
import { resealWallets } from '@market/core/custody'
import { resealResponses } from '@market/core/idempotency'
import { connect } from '@market/database/connect'
import { transact } from '@market/database/transact'
import { resealAgents } from '@market/identity/agents'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { localVault } from '@market/platform/vault/local-vault'

interface RotationSettings {
  readonly DATABASE_URL: string
  readonly VAULT_KEYS: readonly { readonly id: string; readonly key: Buffer }[]
  readonly VAULT_PEPPER: Buffer
  readonly TIMEOUT_FACTOR: number
}

/** Admin keys cannot have this name, because a colon is not allowed in it. */
const ACTOR = { kind: 'admin_key', name: 'vault:rotate' } as const

/**
 * Encrypts every sealed value of the database with the first key of the vault. The marketplace can run meanwhile, and an
 * interrupted run can be repeated.
 */
export async function rotateVault(settings: RotationSettings) {
  const db = connect({
    url: settings.DATABASE_URL,
    maxConnections: 2,
    timeoutFactor: settings.TIMEOUT_FACTOR,
    applicationName: 'agent-market-vault-rotation',
  })
  const ctx = {
    db,
    clock: systemClock,
    vault: localVault({ keys: settings.VAULT_KEYS, pepper: settings.VAULT_PEPPER }),
    actor: ACTOR,
    requestId: idSource(systemClock).next('cmd'),
  }
  const [current, ...others] = settings.VAULT_KEYS.map(({ id }) => id)
  const recordAudit = (act: string, details: Readonly<Record<string, unknown>>) =>
    transact(db, (tx) => record(ctx, tx, { act, subject: `vault:${current}`, details }))
  try {
    await recordAudit('vault.rotation_began', { other_keys: others })
    const columns = [...(await resealAgents(ctx)), await resealWallets(ctx), await resealResponses(ctx)]
    const counts = columns.map(({ column, values, resealed, left, unopened }) => {
      return [column, { values, resealed, left, unopened }]
    })
    await recordAudit('vault.rotation_ended', Object.fromEntries(counts))
    return columns
  } finally {
    await db.destroy()
  }
}
