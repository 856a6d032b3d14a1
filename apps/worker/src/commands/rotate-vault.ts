import { commonSettings, readEnvironment } from '@market/platform/settings/environment'
import { z } from 'zod'
import { rotateVault } from '../rotate-vault.ts'

const { DATABASE_URL, VAULT_KEYS, VAULT_PEPPER } = commonSettings
// biome-ignore lint/style/noProcessEnv: a command is a program of its own and reads its settings here
const settings = readEnvironment(z.object({ DATABASE_URL, VAULT_KEYS, VAULT_PEPPER }), process.env)

const say = (line: string) => process.stdout.write(`${line}\n`)

const columns = await rotateVault(settings)
for (const { column, values, resealed, left, unopened, reasons } of columns) {
  say(`${column}: ${values} values, ${resealed} resealed, ${left} under another key`)
  if (unopened > 0) say(`  ${unopened} of them do not open, such as:\n  ${reasons.join('\n  ')}`)
}
const left = columns.reduce((sum, column) => sum + column.left, 0)
say(
  left === 0
    ? 'Nothing is left under another key: it may be taken away.'
    : `${left} values are left under another key: keep it, and run this again once every process has the new key first.`,
)
process.exitCode = left === 0 ? 0 : 1
