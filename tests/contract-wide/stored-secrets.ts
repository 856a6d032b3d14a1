import { readConfig } from '@market/api/config'
import { vaultFrom } from '@market/platform/settings/vault'
import type { Market } from '../support/market.ts'

/** The vault of this market's API, which can decrypt its secrets. */
export function vaultOf(market: Market) {
  const config = readConfig(market.environment)
  return vaultFrom(config, config.WALLET_SEAL_PUBLIC_KEY)
}

/** Every existing API key and webhook secret, to tell them from lookalikes. */
export async function storedSecrets(market: Market): Promise<ReadonlySet<string>> {
  const vault = vaultOf(market)
  const rows = await market.db
    .selectFrom('agents')
    .select(['id', 'api_key_sealed', 'webhook_secret_sealed'])
    // Agents that tests wrote directly have no key.
    .where((row) => row.fn('octet_length', ['api_key_sealed']), '>', 1)
    .execute()
  const opened = rows.flatMap(({ id, api_key_sealed, webhook_secret_sealed }) => [
    vault.open(api_key_sealed, { row: `agents:${id}`, field: 'api_key' }),
    ...(webhook_secret_sealed === null
      ? []
      : [vault.open(webhook_secret_sealed, { row: `agents:${id}`, field: 'webhook_secret' })]),
  ])
  return new Set(await Promise.all(opened))
}
