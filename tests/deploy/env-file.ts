import { parseEnv } from 'node:util'

/** The variables of an environment file, as `node --env-file` and Compose read it. */
export const parseEnvironment = (text: string): Record<string, string> => ({
  ...(parseEnv(text) as Record<string, string>),
})
