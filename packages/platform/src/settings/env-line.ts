/** Characters that a shell does not interpret. */
const PLAIN = /^[\w./:@,+%-]*$/

/** A line of an environment file that a shell, `node --env-file` and Compose read as the same value. */
export function envLine(name: string, value: string): string {
  // fix: env-files-quoted
  if (PLAIN.test(value)) return `${name}=${value}`
  if (/['\n\r]/.test(value))
    throw new Error(`${name} has a quote or a line break, which not every reader takes`)
  return `${name}='${value}'`
}
