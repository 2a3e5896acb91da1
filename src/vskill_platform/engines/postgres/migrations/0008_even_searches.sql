-- least code: 1

-- What is written to these indexes waits in a list that every search reads; a short one keeps searches even.
ALTER INDEX catalog_submissions_terms_found SET (gin_pending_list_limit = 128);
ALTER INDEX catalog_skills_terms_found SET (gin_pending_list_limit = 128);
