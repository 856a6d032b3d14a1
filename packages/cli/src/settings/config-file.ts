import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { CommandError, UsageError } from '../usage-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The settings of `market config` and their meaning. */
export const SETTINGS = {
  api_url: 'the URL of the API',
  issuer: 'the URL of the identity provider, instead of the one that the API names',
  client_id: 'the client of this program at the identity provider',
  audience: 'for whom access tokens are issued',
  scopes: 'the scopes of a login, instead of those that the API names',
} as const

export type SettingName = keyof typeof SETTINGS

/** A credential counts only for the API that it was stored for. */
export interface StoredAgent {
  readonly api_url: string
  readonly api_key: string
  readonly agent_id: string
  readonly name: string
}

export interface StoredLogin {
  readonly api_url: string
  readonly access_token: string
  readonly expires_at: string
}

export interface Profile extends Readonly<Partial<Record<SettingName, string>>> {
  readonly agent?: StoredAgent
  readonly login?: StoredLogin
}

export interface Config {
  /** The profile that is used without --profile. */
  readonly profile: string
  readonly profiles: Readonly<Record<string, Profile>>
}

const EMPTY: Config = { profile: 'default', profiles: {} }

/** A relative `XDG_CONFIG_HOME` is ignored, as the XDG specification says. */
export function configPath(environment: Environment): string {
  const configured = environment['XDG_CONFIG_HOME'] ?? ''
  const home = environment['HOME'] ?? environment['USERPROFILE'] ?? ''
  if (isAbsolute(configured)) return join(configured, 'agent-market', 'cli.json')
  if (isAbsolute(home)) return join(home, '.config', 'agent-market', 'cli.json')
  throw new UsageError('XDG_CONFIG_HOME is missing. Set it to the folder for the settings of programs.')
}

/** Empty when there is no file yet. */
export async function loadConfig(path: string): Promise<Config> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (found === undefined) return EMPTY
  // Windows has no such modes.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new CommandError('config_readable', `${path} can be read by other users.`, `chmod 600 ${path}`)
  const config = parse(await readFile(path, 'utf8'))
  if (config === undefined)
    throw new CommandError(
      'config_broken',
      `${path} is not a settings file of this program. Repair or delete it.`,
      `rm ${path}`,
    )
  return config
}

function parse(text: string): Config | undefined {
  try {
    const value = JSON.parse(text) as Partial<Config> | null
    const isConfig =
      typeof value?.profile === 'string' && typeof value.profiles === 'object' && value.profiles !== null
    return isConfig ? (value as Config) : undefined
  } catch {
    return undefined
  }
}

/** Written to a new file first, so that it is never readable by others and never half written. */
export async function saveConfig(path: string, config: Config): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(config, null, 2)}\n`)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Changes one profile in the file as it is now: another command may have changed it meanwhile. */
export async function changeProfile(
  path: string,
  name: string,
  change: (profile: Profile) => Profile,
): Promise<void> {
  const config = await loadConfig(path)
  const profile = change(config.profiles[name] ?? {})
  await saveConfig(path, { ...config, profiles: { ...config.profiles, [name]: profile } })
}
