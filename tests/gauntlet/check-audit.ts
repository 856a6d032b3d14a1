import { spawnSync } from 'node:child_process'
import { auditVerdict } from '../../scripts/audit-report.ts'

/** Asks the registry for known vulnerabilities of every locked package. Without its report the section fails. */
const { stdout } = spawnSync('npm', ['audit', '--json', '--audit=true'], { encoding: 'utf8' })
const { isGood, text } = auditVerdict(stdout ?? '')
process.stdout.write(`${text}\n`)
process.exitCode = isGood ? 0 : 1
