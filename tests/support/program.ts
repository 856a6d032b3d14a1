import { fileURLToPath } from 'node:url'
import { type RoleName, urlOfRole } from '@market/database/roles'
import { programFile } from '../../scripts/bundle.ts'
import { compileCacheOf, currentBundle } from './bundle.ts'
import { CHILD_ENVIRONMENT } from './child-environment.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** `sources` is for hooks that change a source file while it is loaded, `folder` for a bundle at another place. */
export type StartFrom = 'sources' | { readonly folder: string }

interface Launch {
  readonly file: string
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
}

/** Tests move the clock and have one node per network. */
export const DEVELOPMENT = { MARKET_ENV: 'development' } as const

/** How to start a server as a process: from the bundle of the current sources, as production does, unless told otherwise. */
export async function launchOf(program: 'api' | 'worker', from?: StartFrom): Promise<Launch> {
  const sources = { ...CHILD_ENVIRONMENT, ...DEVELOPMENT }
  if (from === 'sources') return { file: `apps/${program}/src/main.ts`, cwd: ROOT, environment: sources }
  const { PATH } = CHILD_ENVIRONMENT
  if (from !== undefined)
    return {
      file: programFile(from.folder, program),
      cwd: from.folder,
      environment: { PATH, ...DEVELOPMENT },
    }
  const folder = await currentBundle()
  return {
    file: programFile(folder, program),
    cwd: ROOT,
    environment: { PATH, NODE_COMPILE_CACHE: compileCacheOf(folder), ...DEVELOPMENT },
  }
}

/** The database URL with the role that the program has in production; nothing when the environment has no URL. */
export const asRole = (environment: Readonly<Record<string, string>>, role: RoleName) =>
  environment['DATABASE_URL'] === undefined
    ? {}
    : { DATABASE_URL: urlOfRole(environment['DATABASE_URL'], role) }
