const FAILING = ['moderate', 'high', 'critical'] as const

interface AuditReport {
  readonly metadata?: { readonly vulnerabilities?: Readonly<Record<string, number>> }
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range?: string }>>
}

export interface AuditVerdict {
  readonly isGood: boolean
  readonly text: string
}

/** Reads what `npm audit --json` printed. Only a complete report without a vulnerability passes. */
export function auditVerdict(output: string): AuditVerdict {
  const report = parse(output)
  const counts = report?.metadata?.vulnerabilities
  if (report === undefined || counts === undefined)
    return {
      isGood: false,
      text: `npm audit got no report from the registry, so vulnerabilities are unknown:\n${output.slice(0, 500)}`,
    }
  const found = Object.entries(report.vulnerabilities ?? {}).filter(([, { severity }]) =>
    FAILING.some((one) => one === severity),
  )
  const lines = found.map(([name, { severity, range }]) => `${severity}: ${name} ${range ?? ''}`.trimEnd())
  if (found.length > 0) return { isGood: false, text: lines.join('\n') }
  return { isGood: true, text: 'no vulnerability of severity moderate or above' }
}

function parse(output: string): AuditReport | undefined {
  try {
    return JSON.parse(output) as AuditReport
  } catch {
    return undefined
  }
}
