import { commonSettings, readEnvironment } from '@market/platform/settings/environment'
import { vaultSettings, walletSealPrivateKeys } from '@market/platform/settings/vault'
import { z } from 'zod'
import { rotateVault } from '../rotate-vault.ts'

const { DATABASE_URL, TIMEOUT_FACTOR } = commonSettings
const schema = z.object({
  ...vaultSettings,
  DATABASE_URL,
  TIMEOUT_FACTOR,
  WALLET_SEAL_PRIVATE_KEYS: walletSealPrivateKeys,
})
// biome-ignore lint/style/noProcessEnv: a command reads its own settings
const settings = readEnvironment(schema, process.env)

const print = (line: string) => process.stdout.write(`${line}\n`)

const columns = await rotateVault(settings)
for (const { column, values, resealed, left, unopened, reasons } of columns) {
  print(`${column}: ${values} values, ${resealed} resealed, ${left} under another key`)
  if (unopened > 0)
    print(`  ${unopened} of them cannot be decrypted, for example:\n  ${reasons.join('\n  ')}`)
}
const left = columns.reduce((sum, column) => sum + column.left, 0)
print(
  left === 0
    ? 'No value uses another key. You can remove the other keys.'
    : `${left} values still use another key. Keep it, and run this again after every process has the new key first.`,
)
process.exitCode = left === 0 ? 0 : 1
