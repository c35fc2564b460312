// A model outside the walk answers for the rows that the gate sends on: its call is the last question.

const SENT = 1, KEPT = 2, CALLED = 3;

function handoverWants(s) {
  if (!s.stage) {
    s.stage = policy.output(s)[0] > N.HANDOVER_THRESHOLD && s.affords(...T.READS, N.HANDOVER) ? SENT : KEPT;
    s.place = 0;
  }
  if (s.stage !== SENT) return -1;
  while (s.place < T.READS.length && s.flags[T.READS[s.place]] & HEARD) s.place += 1;
  if (s.place < T.READS.length) return T.READS[s.place];
  const hasRead = s.flags.some((flags) => (flags & (HEARD | OWNED)) === (HEARD | OWNED));
  return !T.READS.length || hasRead ? N.HANDOVER : -1;
}

function handoverHear(s, item) {
  s.flags[item] |= HEARD;
  if (item === N.HANDOVER) s.stage = s.flags[item] & REFUSED ? KEPT : CALLED;
}
