import type { SeedOpener, Vault } from '@market/core/ports/vault'
import { vaultFrom, vaultSettings, walletSealPrivateKeys } from '@market/platform/settings/vault'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { seedOpener } from '@market/platform/vault/seed-seal'

export interface TestKeys extends ReturnType<typeof newKeySettings> {
  readonly vault: Vault
  /** What the worker has to open seeds. */
  readonly seeds: SeedOpener
}

/** Keys of a test, as settings and as the vault of the programs that have them. New random ones unless given. */
export function testKeys(settings = newKeySettings()): TestKeys {
  const { both, worker } = settings
  const sealKeys = walletSealPrivateKeys.parse(worker.WALLET_SEAL_PRIVATE_KEYS)
  const config = {
    VAULT_KEYS: vaultSettings.VAULT_KEYS.parse(both.VAULT_KEYS),
    API_KEY_HASH_KEYS: vaultSettings.API_KEY_HASH_KEYS.parse(both.API_KEY_HASH_KEYS),
    X402_CLAIM_KEYS: vaultSettings.X402_CLAIM_KEYS.parse(both.X402_CLAIM_KEYS),
    ACCESS_TOKEN_KEYS: vaultSettings.ACCESS_TOKEN_KEYS.parse(both.ACCESS_TOKEN_KEYS),
    FILE_URL_KEYS: vaultSettings.FILE_URL_KEYS.parse(both.FILE_URL_KEYS),
    AUDIT_KEYS: vaultSettings.AUDIT_KEYS.parse(both.AUDIT_KEYS),
  }
  return { ...settings, vault: vaultFrom(config, sealKeys[0].publicKey), seeds: seedOpener(sealKeys) }
}

/** The keys while one setting is changed: `both` has a new key and still accepts the former one, `newOnly` does not. */
export function rotateKeys(keys: TestKeys, name: keyof TestKeys['both']) {
  const fresh = newKeySettings().both[name]
  const withValue = (value: string) => testKeys({ ...keys, both: { ...keys.both, [name]: value } })
  return { both: withValue(`${fresh},${keys.both[name]}`), newOnly: withValue(fresh) }
}
