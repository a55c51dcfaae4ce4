/** Postern's mark: a small gate. */

export function Mark({ size = 24 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#0f766e" />
      <path d="M9 25V14a7 7 0 0 1 14 0v11" fill="none" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      <circle cx="19" cy="18.5" r="1.7" fill="#fff" />
    </svg>
  );
}
