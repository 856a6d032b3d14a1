import { record } from '@market/core/audit'
import { resealWallets } from '@market/core/custody'
import { resealResponses } from '@market/core/idempotency'
import { connect } from '@market/database/connect'
import { transact } from '@market/database/transact'
import { resealAgents } from '@market/identity/agents'
import { resealOAuthKeys } from '@market/identity/oauth'
import { resealSessions } from '@market/identity/sessions'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { type VaultConfig, vaultFrom } from '@market/platform/settings/vault'
import { seedOpener } from '@market/platform/vault/seed-seal'
import type { Config } from './config.ts'

type RotationSettings = VaultConfig &
  Pick<Config, 'DATABASE_URL' | 'WALLET_SEAL_PRIVATE_KEYS' | 'TIMEOUT_FACTOR'>

/** Admin keys cannot have this name, because a colon is not allowed in it. */
const ACTOR = { kind: 'admin_key', name: 'vault:rotate' } as const

/**
 * Encrypts every sealed value of the database with the first key of the vault, seals every seed of a wallet to the first
 * wallet seal key, and makes the fingerprints of API keys with their first hash key. The marketplace can run meanwhile,
 * and an interrupted run can be repeated.
 */
export async function rotateVault(settings: RotationSettings) {
  const db = connect({
    url: settings.DATABASE_URL,
    maxConnections: 2,
    timeoutFactor: settings.TIMEOUT_FACTOR,
    applicationName: 'agent-market-vault-rotation',
  })
  const sealKeys = settings.WALLET_SEAL_PRIVATE_KEYS
  const vault = vaultFrom(settings, sealKeys[0].publicKey)
  const ctx = {
    db,
    clock: systemClock,
    vault,
    seeds: seedOpener(sealKeys),
    actor: ACTOR,
    requestId: idSource(systemClock).next('cmd'),
  }
  const [current, ...others] = settings.VAULT_KEYS.map(({ id }) => id)
  const [sealKey, ...otherSealKeys] = sealKeys.map(({ publicKey }) => publicKey.id)
  const recordAudit = (act: string, details: Readonly<Record<string, unknown>>) =>
    transact(db, (tx) => record(ctx, tx, { act, subject: `vault:${current}`, details }))
  try {
    await recordAudit('vault.rotation_began', {
      other_keys: others,
      wallet_seal_key: sealKey,
      other_wallet_seal_keys: otherSealKeys,
    })
    const columns = [
      ...(await resealAgents(ctx)),
      await resealWallets(ctx),
      await resealResponses(ctx),
      await resealOAuthKeys(ctx),
      ...(await resealSessions(ctx)),
    ]
    const counts = columns.map(({ column, values, resealed, left, unopened }) => {
      return [column, { values, resealed, left, unopened }]
    })
    await recordAudit('vault.rotation_ended', Object.fromEntries(counts))
    return columns
  } finally {
    await db.destroy()
  }
}
