import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

export interface Login {
  /** The API for which the operator signed in. Another one never gets the token. */
  readonly api_url: string
  readonly access_token: string
  readonly expires_at: string
}

/** A file that must not be used, as a sentence that says what to do. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError'
}

/** Written to a new file first, so that it is never readable by others and never half written. */
export async function saveLogin(path: string, login: Login): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(login, null, 2)}\n`)
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

/** Undefined when nobody is logged in. */
export async function loadLogin(path: string): Promise<Login | undefined> {
  const found = await stat(path).catch(ifMissing)
  if (found === undefined) return undefined
  if ((found.mode & 0o077) !== 0)
    throw new TokenFileError(`${path} can be read by other users. Run: chmod 600 ${path}`)
  const login = await readJson(path)
  if (!isLogin(login)) throw new TokenFileError(`${path} has another format. Log in again.`)
  return login
}

function isLogin(value: unknown): value is Login {
  if (typeof value !== 'object' || value === null) return false
  const { api_url, access_token, expires_at } = value as Readonly<Partial<Record<keyof Login, unknown>>>
  return [api_url, access_token, expires_at].every((field) => typeof field === 'string')
}

export const deleteLogin = (path: string): Promise<void> => rm(path, { force: true })

async function readJson(path: string): Promise<unknown> {
  const file = await open(path)
  try {
    return JSON.parse(await file.readFile('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  } finally {
    await file.close()
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
