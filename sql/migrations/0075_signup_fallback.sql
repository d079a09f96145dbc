-- Who is taken for the referrer of a pending signup when no click of its visitor can tell: whom its report named.
ALTER TABLE signups ADD COLUMN fallback_enrollment_id uuid REFERENCES enrollments (id)
  CHECK (fallback_enrollment_id IS NULL OR state = 'pending');
